package io.keelson.core;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.time.Clock;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The core decides and does nothing else: the same view and command give the same decision, everywhere and always. */
class PurityTest {

    private static final JavaClasses CORE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("io.keelson.core");

    private static final DescribedPredicate<JavaMethodCall> READS_A_CLOCK = describe("reads a clock",
            call -> call.getTargetOwner().getPackageName().startsWith("java.time") && call.getName().equals("now")
                    || call.getTargetOwner().isEquivalentTo(System.class)
                            && Set.of("currentTimeMillis", "nanoTime").contains(call.getName()));

    @Test
    void knowsOnlyValues() {
        classes().that().resideInAPackage("io.keelson.core..")
                .should().onlyDependOnClassesThat().resideInAnyPackage("io.keelson.core..", "org.jspecify.annotations",
                        "java.lang", "java.lang.annotation", "java.lang.invoke", "java.lang.runtime", "java.math",
                        "java.time..", "java.util", "java.util.function", "java.util.stream", "java.util.regex")
                .because("the core is the JDK's values only: what needs a file, a socket, a lock or a library belongs "
                        + "to the server, which hands the core its facts and carries out its Changes")
                .check(CORE);
    }

    @Test
    void hasNoThreads() {
        noClasses().should().dependOnClassesThat().areAssignableTo(Thread.class)
                .because("a decision is one method call; executors and loops live in server.engine")
                .check(CORE);
    }

    @Test
    void readsNoClock() {
        noClasses().should().dependOnClassesThat().areAssignableTo(Clock.class)
                .orShould().callMethodWhere(READS_A_CLOCK)
                .because("now is an argument of Decider.decide: the database's clock, the test's clock, or a replay's")
                .check(CORE);
    }

    @Test
    void drawsNoIdsAndNoRandomNumbers() {
        noClasses().should().callMethod(UUID.class, "randomUUID").orShould().callMethod(Math.class, "random")
                .orShould().dependOnClassesThat().areAssignableTo(Random.class)
                .because("ids come from Ids and jitter from the decision's seed, so that a run can be replayed")
                .check(CORE);
    }
}
