/** Routes of operators: workspaces, keys, audit, metrics, engine. */
@NullMarked
package io.keelson.server.api.http.admin;

import org.jspecify.annotations.NullMarked;
