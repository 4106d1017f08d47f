/** Commands to all runs that a filter finds: carried out a portion at a time, by whichever node is there. */
@NullMarked
package io.keelson.server.bulk;

import org.jspecify.annotations.NullMarked;
