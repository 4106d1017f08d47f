/**
 * The archive of runs: the rows of ended runs as objects of the artifact store, and the rows that remain of them.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A new table with rows of runs is listed in {@code RunTables}, or in {@code RunTablesTest} with the reason why its rows stay.
 * <li>Rows are read, compared and deleted in one snapshot (repeatable read): a row that changes meanwhile ends the transaction.
 * <li>A read of an archived run inserts its rows and takes them back ({@code Database.undone}). So no trigger of these tables may have
 * an effect outside of the transaction.
 * </ul>
 */
@NullMarked
package io.keelson.server.engine.store.archive;

import org.jspecify.annotations.NullMarked;
