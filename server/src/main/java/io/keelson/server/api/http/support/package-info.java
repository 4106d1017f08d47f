/** Building blocks of every route: requests, responses, errors, authentication, idempotency, paging. */
@NullMarked
package io.keelson.server.api.http.support;

import org.jspecify.annotations.NullMarked;
