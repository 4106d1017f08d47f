/** The audit log of operators' and administrators' acts, and where each request came from. */
@NullMarked
package io.keelson.server.audit;

import org.jspecify.annotations.NullMarked;
