/** Building blocks of every route: requests, responses, errors, authentication, idempotency, paging. */
@NullMarked
package io.keelson.server.http.support;

import org.jspecify.annotations.NullMarked;
