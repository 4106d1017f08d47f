/** Routes of credits, ledger and prices. */
@NullMarked
package io.keelson.server.http.billing;

import org.jspecify.annotations.NullMarked;
