/**
 * Money around the runs: grants and corrections, reading balances and the ledger, the price list, usage, the audit. What
 * runs reserve and are charged is decided by {@code core} and written with the run.
 */
@NullMarked
package io.keelson.server.money;

import org.jspecify.annotations.NullMarked;
