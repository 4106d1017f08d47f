/** Plans built in code; what they make is the same JSON as a mission file. */
@NullMarked
package io.keelson.client.plan;

import org.jspecify.annotations.NullMarked;
