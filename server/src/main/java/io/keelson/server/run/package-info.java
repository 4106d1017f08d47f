/**
 * The store: a run's tables, how views of runs are loaded and changes written, and what others may read. Nobody else
 * writes these tables.
 */
@NullMarked
package io.keelson.server.run;

import org.jspecify.annotations.NullMarked;
