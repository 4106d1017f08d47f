/** What log entries say beside their text. */
@NullMarked
package io.keelson.server.log;

import org.jspecify.annotations.NullMarked;
