/**
 * Reads of the work board and of reports, and the board tasks that people create. What runs
 * put there is written with the run.
 */
@NullMarked
package io.keelson.server.outlet.board;

import org.jspecify.annotations.NullMarked;
