/** A worker that starts a program for each step. */
@NullMarked
package io.keelson.cli.worker;

import org.jspecify.annotations.NullMarked;
