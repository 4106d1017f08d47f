/** Commands that change runs: pause, resume, cancel, retry, undo, replan, fork, budget, signals, bulk. */
@NullMarked
package io.keelson.cli.control;

import org.jspecify.annotations.NullMarked;
