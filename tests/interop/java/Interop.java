import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;

/** What the Java suites share: the broker's place, names, and a runner of cases (interop.py says how). */
final class Interop {
    interface Body {
        void run() throws Exception;
    }

    static final class Skipped extends Exception {
        Skipped(String why) {
            super(why);
        }
    }

    static final long WAIT_MS = 20_000;
    static final long QUIET_MS = 300;
    static final String RUN = System.getenv().getOrDefault("INTEROP_RUN", "x");
    static final boolean IS_OURS = System.getenv("INTEROP_ADMIN") != null;
    private static final Map<String, Body> CASES = new LinkedHashMap<>();

    static void test(String name, Body body) {
        if (CASES.put(name, body) != null) throw new IllegalStateException(name);
    }

    static String name(String text) {
        String all = "IT." + RUN + "." + text;
        return all.length() > 48 ? all.substring(0, 48) : all;
    }

    static void same(Object have, Object want) {
        if (!Objects.equals(have, want)) throw new AssertionError(have + ", expected " + want);
    }

    static void check(boolean holds, String what) {
        if (!holds) throw new AssertionError(what);
    }

    /** The exception of the given kind that `call` throws. */
    static <T extends Throwable> T refused(Class<T> kind, Callable<?> call) throws Exception {
        try {
            call.call();
        } catch (Throwable error) {
            if (kind.isInstance(error)) return kind.cast(error);
            throw new AssertionError("another exception than " + kind.getSimpleName(), error);
        }
        throw new AssertionError("no " + kind.getSimpleName());
    }

    static void main(String[] arguments) {
        String wanted = arguments.length > 0 ? arguments[0] : "";
        boolean[] failed = {false};
        CASES.forEach((name, body) -> {
            if (!name.contains(wanted)) return;
            long started = System.nanoTime();
            try {
                body.run();
                System.out.printf("ok %s (%.1f s)%n", name, (System.nanoTime() - started) / 1e9);
            } catch (Skipped why) {
                System.out.printf("skipped %s: %s%n", name, why.getMessage());
            } catch (Throwable error) {
                failed[0] = true;
                StringWriter text = new StringWriter();
                error.printStackTrace(new PrintWriter(text));
                System.out.printf("FAILED %s%n%s%n", name, text);
            }
            System.out.flush();
        });
        Runtime.getRuntime().halt(failed[0] ? 1 : 0);
    }

    private Interop() {}
}
