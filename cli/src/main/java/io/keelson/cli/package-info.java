/**
 * The command line: {@code Main}, the root command and its help sections. Each sub-package has the commands of one
 * help section.
 */
@NullMarked
package io.keelson.cli;

import org.jspecify.annotations.NullMarked;
