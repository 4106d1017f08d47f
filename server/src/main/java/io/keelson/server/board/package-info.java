/**
 * The work board and the reports as people read them, and the tasks that people put on the board themselves. What runs
 * put there is written with the run.
 */
@NullMarked
package io.keelson.server.board;

import org.jspecify.annotations.NullMarked;
