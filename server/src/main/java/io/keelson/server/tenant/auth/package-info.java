/** Principals, API keys and scopes, and the files through which programs on one machine find their server. */
@NullMarked
package io.keelson.server.tenant.auth;

import org.jspecify.annotations.NullMarked;
