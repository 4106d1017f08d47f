/** Following a run in the terminal: live view, plain lines, questions, downloaded artifacts. */
@NullMarked
package io.keelson.cli.follow;

import org.jspecify.annotations.NullMarked;
