@NullMarked
package io.keelson.core.plan;

import org.jspecify.annotations.NullMarked;
