/** The benchmark's command: reads options, lets the scenarios run, writes the report. */
@NullMarked
package io.keelson.bench;

import org.jspecify.annotations.NullMarked;
