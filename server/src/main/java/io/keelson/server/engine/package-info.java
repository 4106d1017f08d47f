/**
 * The way of a run. {@code Engine} assembles the packages.
 *
 * <table>
 * <caption>Packages</caption>
 * <tr><td>{@code commit}<td>batches commands of many runs, has them decided, writes them
 * <tr><td>{@code dispatch}<td>claims and reports of remote workers
 * <tr><td>{@code execute}<td>execution of a step on this node
 * <tr><td>{@code history}<td>a database that went back
 * <tr><td>{@code live}<td>texts of answers while they arrive
 * <tr><td>{@code purge}<td>deletion of workspaces
 * <tr><td>{@code store}<td>tables of runs (package-private), commit message; {@code .read}, {@code .queue}, {@code .retention}, {@code .archive}, {@code .sql}
 * <tr><td>{@code tool}<td>the tool interface and the catalogue
 * <tr><td>{@code upkeep}<td>expired leases, due timers, stuck joins, lost nodes
 * </table>
 */
@NullMarked
package io.keelson.server.engine;

import org.jspecify.annotations.NullMarked;
