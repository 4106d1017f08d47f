/**
 * Grants and corrections, reads of balances and ledger, the price list, usage, ledger verification. What
 * runs reserve and are charged is decided by {@code core} and written with the run.
 */
@NullMarked
package io.keelson.server.tenant.money;

import org.jspecify.annotations.NullMarked;
