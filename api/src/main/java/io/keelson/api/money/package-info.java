/** Ledger, prices, tokens and use. */
@NullMarked
package io.keelson.api.money;

import org.jspecify.annotations.NullMarked;
