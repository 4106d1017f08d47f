/** Computation on behalf of tenants: on threads of its own, fair between workspaces, within a budget for each run. */
@NullMarked
package io.keelson.server.base.compute;

import org.jspecify.annotations.NullMarked;
