/**
 * States and allowed transitions of runs, agents, tasks and steps as tables, and their names in the five public
 * contracts.
 */
@NullMarked
package io.keelson.core.lifecycle;

import org.jspecify.annotations.NullMarked;
