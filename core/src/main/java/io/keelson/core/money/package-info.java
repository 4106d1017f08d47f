/** Exact amounts, prices, budgets, transfers between a workspace's accounts. */
@NullMarked
package io.keelson.core.money;

import org.jspecify.annotations.NullMarked;
