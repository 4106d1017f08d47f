/** Who may call: API keys, the workspace they belong to, and the files that let programs on this machine find theirs. */
@NullMarked
package io.keelson.server.auth;

import org.jspecify.annotations.NullMarked;
