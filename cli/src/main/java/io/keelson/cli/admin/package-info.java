/** Commands of the server, doctor, workspaces, keys and audit. */
@NullMarked
package io.keelson.cli.admin;

import org.jspecify.annotations.NullMarked;
