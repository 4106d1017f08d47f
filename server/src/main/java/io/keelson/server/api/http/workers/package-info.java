/** Routes of remote workers: dispatch, uploads, registration. */
@NullMarked
package io.keelson.server.api.http.workers;

import org.jspecify.annotations.NullMarked;
