/**
 * Workspaces: limits, folders, closing and emptying.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A table with a {@code workspace_id} is emptied when its workspace is deleted, without being listed anywhere.
 * It needs an index that starts with that column, or a parent row that has one ({@code PurgePlansTest}).
 * </ul>
 */
@NullMarked
package io.keelson.server.tenant.workspace;

import org.jspecify.annotations.NullMarked;
