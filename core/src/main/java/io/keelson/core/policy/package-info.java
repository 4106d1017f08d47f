@NullMarked
package io.keelson.core.policy;

import org.jspecify.annotations.NullMarked;
