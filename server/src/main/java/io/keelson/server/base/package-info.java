/**
 * Parts that any server needs. Depends on no other group, nor on {@code core}.
 *
 * <table>
 * <caption>Packages</caption>
 * <tr><td>{@code artifact}<td>the bytes of artifacts
 * <tr><td>{@code background}<td>repeated work
 * <tr><td>{@code compute}<td>threads for computations of tenants, fair between workspaces, with budgets per run
 * <tr><td>{@code db}<td>connections, transactions, database clock, migrations
 * <tr><td>{@code expr}<td>jq in {@code ${ }}, bounded: parser and evaluation
 * <tr><td>{@code json}<td>JSON helpers, and the one reader for documents from outside
 * <tr><td>{@code log}<td>context of log entries
 * <tr><td>{@code outbound}<td>the one client for outgoing HTTP
 * <tr><td>{@code problem}<td>refused starts and unusable files, in words for operators
 * <tr><td>{@code process}<td>programs in processes of their own, whose process trees end with them
 * </table>
 */
@NullMarked
package io.keelson.server.base;

import org.jspecify.annotations.NullMarked;
