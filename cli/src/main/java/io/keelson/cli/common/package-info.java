/** Shared by all commands: connection to the server, errors, output, argument parsing, mission files. */
@NullMarked
package io.keelson.cli.common;

import org.jspecify.annotations.NullMarked;
