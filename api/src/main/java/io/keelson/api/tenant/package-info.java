/** Keys, sessions, secrets and the audit log. */
@NullMarked
package io.keelson.api.tenant;

import org.jspecify.annotations.NullMarked;
