/** Commands that start and show runs. */
@NullMarked
package io.keelson.cli.runs;

import org.jspecify.annotations.NullMarked;
