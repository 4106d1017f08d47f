/**
 * Workspaces, their keys and their credits.
 *
 * <table>
 * <caption>Packages</caption>
 * <tr><td>{@code audit}<td>the audit log
 * <tr><td>{@code auth}<td>principals, keys, scopes, sessions
 * <tr><td>{@code money}<td>grants, corrections, balances, ledger, prices, usage, ledger verification
 * <tr><td>{@code secret}<td>encrypted values for plans, opened at execution, redacted from all records
 * <tr><td>{@code workspace}<td>workspaces and their limits
 * </table>
 */
@NullMarked
package io.keelson.server.tenant;

import org.jspecify.annotations.NullMarked;
