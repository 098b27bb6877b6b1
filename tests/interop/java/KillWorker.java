import jakarta.jms.Connection;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.qpid.jms.JmsConnectionFactory;

/**
 * A JMS client for kill.py in transacted sessions: "put TEXT" and "got TEXT" for each message of a
 * transaction when its commit has returned, "maybe TEXT" before the commit of those that came. Arguments as of kill_worker.py, without the protocol.
 */
final class KillWorker {
    private static final int UNIT = 5;
    private static volatile boolean stops;

    public static void main(String[] arguments) throws Exception {
        boolean puts = arguments[0].equals("put");
        String name = arguments[1].replace("queue://", "");
        String prefix = arguments[2];
        Path ports = Path.of(arguments[3]);
        Thread end = new Thread(KillWorker::waitForTheEnd);
        end.setDaemon(true);
        end.start();
        int number = 0;
        while (!stops) {
            JmsConnectionFactory factory = new JmsConnectionFactory("amqp://127.0.0.1:" + port(ports)
                + "?jms.requestTimeout=3000&jms.sendTimeout=3000&jms.prefetchPolicy.all=10");
            try (Connection connection = factory.createConnection()) {
                connection.start();
                Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
                Queue queue = session.createQueue(name);
                MessageProducer producer = puts ? session.createProducer(queue) : null;
                MessageConsumer consumer = puts ? null : session.createConsumer(queue);
                while (!stops) {
                    List<String> done = new ArrayList<>();
                    for (int i = 0; i < UNIT; ++i) {
                        if (puts) {
                            // A number that is not known to have arrived is not used again.
                            String text = prefix + "-" + ++number;
                            producer.send(session.createTextMessage(text));
                            done.add(text);
                        } else {
                            Message message = consumer.receive(i == 0 ? 500 : 20);
                            if (message == null) break;
                            done.add(((TextMessage) message).getText());
                        }
                    }
                    if (!puts) for (String text : done) System.out.println("maybe " + text);
                    System.out.flush();
                    session.commit();
                    for (String text : done) System.out.println((puts ? "put " : "got ") + text);
                    System.out.flush();
                }
            } catch (Exception gone) {
                Thread.sleep(50);
            }
        }
        System.exit(0);
    }

    private static int port(Path file) throws IOException {
        Matcher found = Pattern.compile("\"amqp\": *(\\d+)").matcher(Files.readString(file));
        if (!found.find()) throw new IOException("no port in " + file);
        return Integer.parseInt(found.group(1));
    }

    private static void waitForTheEnd() {
        try {
            while (System.in.read() >= 0) {
                // Until kill.py closes it.
            }
        } catch (IOException gone) {
            // The same.
        }
        stops = true;
    }
}
