/**
 * Calls of models on behalf of tools.
 *
 * <p>Easy to get wrong:
 * <ul>
 * <li>A provider bills answers that the tool cannot use. A failure after an answer has its tokens in
 * {@code ToolFailure.spent}. A step that is handed back to the queue charges nothing, so a call hands back only before its
 * first answer.
 * </ul>
 */
@NullMarked
package io.keelson.server.model.call;

import org.jspecify.annotations.NullMarked;
