/** The audit log of operators' and administrators' acts, and where each request came from. */
@NullMarked
package io.keelson.server.tenant.audit;

import org.jspecify.annotations.NullMarked;
