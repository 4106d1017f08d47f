/** Routes of credits, ledger and prices. */
@NullMarked
package io.keelson.server.api.http.billing;

import org.jspecify.annotations.NullMarked;
