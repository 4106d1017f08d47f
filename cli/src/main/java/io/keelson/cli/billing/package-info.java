/** Commands of credits, ledger, usage and prices. */
@NullMarked
package io.keelson.cli.billing;

import org.jspecify.annotations.NullMarked;
