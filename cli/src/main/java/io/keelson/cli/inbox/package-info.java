/** Commands of the inbox, decisions, escalations, board, reports. */
@NullMarked
package io.keelson.cli.inbox;

import org.jspecify.annotations.NullMarked;
