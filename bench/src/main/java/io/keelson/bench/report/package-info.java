/** The report: medians, tables, bars, JSON, a plot. */
@NullMarked
package io.keelson.bench.report;

import org.jspecify.annotations.NullMarked;
