/** Views of runs as pure functions from data to lines, without input and output. */
@NullMarked
package io.keelson.cli.view;

import org.jspecify.annotations.NullMarked;
