/** Routes of remote workers: dispatch, uploads, registration. */
@NullMarked
package io.keelson.server.http.workers;

import org.jspecify.annotations.NullMarked;
