import jakarta.jms.BytesMessage;
import jakarta.jms.CompletionListener;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.Destination;
import jakarta.jms.InvalidClientIDException;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.InvalidSelectorException;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.ObjectMessage;
import jakarta.jms.Queue;
import jakarta.jms.QueueBrowser;
import jakarta.jms.Session;
import jakarta.jms.StreamMessage;
import jakarta.jms.TemporaryQueue;
import jakarta.jms.TemporaryTopic;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.qpid.jms.JmsConnectionFactory;

/** Jakarta Messaging over AMQP 1.0 with Qpid JMS. */
final class JmsCases {
    static final String URI = "amqp://" + System.getenv("INTEROP_AMQP")
        + "?jms.requestTimeout=20000&jms.connectTimeout=20000&jms.closeTimeout=20000&jms.sendTimeout=20000";
    static final JmsConnectionFactory FACTORY = new JmsConnectionFactory(URI);

    /** A started connection with a session. */
    static final class Use implements AutoCloseable {
        final Connection connection;
        final Session session;

        Use(String clientId, int mode) throws JMSException {
            connection = FACTORY.createConnection();
            if (clientId != null) connection.setClientID(clientId);
            session = connection.createSession(mode == Session.SESSION_TRANSACTED, mode);
            connection.start();
        }

        Use(int mode) throws JMSException {
            this(null, mode);
        }

        Use() throws JMSException {
            this(null, Session.AUTO_ACKNOWLEDGE);
        }

        Queue queue(String name) throws JMSException {
            return session.createQueue(Interop.name(name));
        }

        Topic topic(String name) throws JMSException {
            return session.createTopic("it/" + Interop.name(name));
        }

        void send(Destination to, Object... texts) throws JMSException {
            MessageProducer producer = session.createProducer(to);
            for (Object text : texts) producer.send(session.createTextMessage(String.valueOf(text)));
            producer.close();
        }

        MessageConsumer consumer(Destination from) throws JMSException {
            return session.createConsumer(from);
        }

        @Override
        public void close() throws JMSException {
            connection.close();
        }
    }

    static String text(MessageConsumer consumer) throws JMSException {
        Message message = consumer.receive(Interop.WAIT_MS);
        Interop.check(message != null, "no message came");
        return ((TextMessage) message).getText();
    }

    static void texts(MessageConsumer consumer, Object... wanted) throws JMSException {
        List<String> got = new ArrayList<>();
        for (int i = 0; i < wanted.length; ++i) got.add(text(consumer));
        Interop.same(got, Arrays.stream(wanted).map(String::valueOf).toList());
    }

    static void nothing(MessageConsumer consumer) throws JMSException {
        Message message = consumer.receive(Interop.QUIET_MS);
        Interop.check(message == null, "there was a message: " + message);
    }

    static Message exchange(Use use, Queue queue, Message message) throws JMSException {
        use.session.createProducer(queue).send(message);
        MessageConsumer consumer = use.consumer(queue);
        Message got = consumer.receive(Interop.WAIT_MS);
        Interop.check(got != null, "no message came");
        consumer.close();
        return got;
    }

    // --- bodies

    static void bodies() {
        Interop.test("text_message", () -> {
            try (Use u = new Use()) {
                Queue queue = u.queue("text");
                for (String text : new String[] {"hello", "", "gr\u00fc\u00df \u20ac \ud83d\ude00", "x".repeat(100_000)}) {
                    u.send(queue, text);
                }
                MessageConsumer consumer = u.consumer(queue);
                texts(consumer, "hello", "", "gr\u00fc\u00df \u20ac \ud83d\ude00", "x".repeat(100_000));
            }
        });
        Interop.test("text_message_null", () -> {
            try (Use u = new Use()) {
                Message got = exchange(u, u.queue("textnull"), u.session.createTextMessage());
                Interop.same(((TextMessage) got).getText(), null);
            }
        });
        Interop.test("bytes_message", () -> {
            try (Use u = new Use()) {
                BytesMessage message = u.session.createBytesMessage();
                message.writeBoolean(true);
                message.writeInt(-7);
                message.writeLong(Long.MIN_VALUE);
                message.writeDouble(1.5);
                message.writeUTF("text");
                message.writeBytes(new byte[70_000]);
                BytesMessage got = (BytesMessage) exchange(u, u.queue("bytes"), message);
                Interop.same(got.readBoolean(), true);
                Interop.same(got.readInt(), -7);
                Interop.same(got.readLong(), Long.MIN_VALUE);
                Interop.same(got.readDouble(), 1.5);
                Interop.same(got.readUTF(), "text");
                Interop.same(got.readBytes(new byte[80_000]), 70_000);
            }
        });
        Interop.test("map_message", () -> {
            try (Use u = new Use()) {
                MapMessage message = u.session.createMapMessage();
                message.setBoolean("boolean", true);
                message.setByte("byte", (byte) -1);
                message.setShort("short", (short) 2);
                message.setInt("int", 3);
                message.setLong("long", 4);
                message.setFloat("float", 5.5f);
                message.setDouble("double", 6.5);
                message.setChar("char", 'c');
                message.setString("string", "s");
                message.setBytes("bytes", new byte[] {1, 2});
                message.setString("null", null);
                MapMessage got = (MapMessage) exchange(u, u.queue("map"), message);
                Interop.same(Collections.list((Enumeration<?>) got.getMapNames()).size(), 11);
                Interop.same(got.getBoolean("boolean"), true);
                Interop.same(got.getByte("byte"), (byte) -1);
                Interop.same(got.getShort("short"), (short) 2);
                Interop.same(got.getInt("int"), 3);
                Interop.same(got.getLong("long"), 4L);
                Interop.same(got.getFloat("float"), 5.5f);
                Interop.same(got.getDouble("double"), 6.5);
                Interop.same(got.getChar("char"), 'c');
                Interop.same(got.getString("string"), "s");
                Interop.check(Arrays.equals(got.getBytes("bytes"), new byte[] {1, 2}), "bytes");
                Interop.same(got.getObject("null"), null);
            }
        });
        Interop.test("stream_message", () -> {
            try (Use u = new Use()) {
                StreamMessage message = u.session.createStreamMessage();
                message.writeBoolean(false);
                message.writeByte((byte) 1);
                message.writeInt(2);
                message.writeLong(3);
                message.writeString("four");
                message.writeObject(5.0);
                message.writeBytes(new byte[] {6});
                StreamMessage got = (StreamMessage) exchange(u, u.queue("stream"), message);
                Interop.same(got.readBoolean(), false);
                Interop.same(got.readByte(), (byte) 1);
                Interop.same(got.readInt(), 2);
                Interop.same(got.readLong(), 3L);
                Interop.same(got.readString(), "four");
                Interop.same(got.readObject(), 5.0);
                byte[] bytes = new byte[4];
                Interop.same(got.readBytes(bytes), 1);
            }
        });
        Interop.test("object_message", () -> {
            try (Use u = new Use()) {
                Map<String, Integer> value = new LinkedHashMap<>(Map.of("one", 1));
                ObjectMessage got =
                    (ObjectMessage) exchange(u, u.queue("object"), u.session.createObjectMessage((java.io.Serializable) value));
                Interop.same(got.getObject(), value);
            }
        });
        Interop.test("message_without_a_body", () -> {
            try (Use u = new Use()) {
                Message message = u.session.createMessage();
                message.setStringProperty("p", "v");
                Message got = exchange(u, u.queue("nobody"), message);
                Interop.check(!(got instanceof TextMessage) && !(got instanceof BytesMessage), "its kind " + got.getClass());
                Interop.same(got.getStringProperty("p"), "v");
            }
        });
        for (int size : new int[] {1, 1000, 1 << 20, 10 << 20}) {
            Interop.test("size_" + size, () -> {
                try (Use u = new Use()) {
                    byte[] body = new byte[size];
                    for (int i = 0; i < size; ++i) body[i] = (byte) (i * 31);
                    BytesMessage message = u.session.createBytesMessage();
                    message.writeBytes(body);
                    BytesMessage got = (BytesMessage) exchange(u, u.queue("size"), message);
                    byte[] back = new byte[(int) got.getBodyLength()];
                    got.readBytes(back);
                    Interop.check(Arrays.equals(back, body), "the body of " + size);
                }
            });
        }
    }

    // --- header fields and properties

    static void headers() {
        Interop.test("header_fields", () -> {
            try (Use u = new Use()) {
                Message message = u.session.createTextMessage("h");
                message.setJMSCorrelationID("correlated");
                message.setJMSType("kind");
                message.setJMSReplyTo(u.queue("replies"));
                MessageProducer producer = u.session.createProducer(u.queue("headers"));
                long before = System.currentTimeMillis();
                producer.send(message, DeliveryMode.PERSISTENT, 7, 60_000);
                Message got = u.consumer(u.queue("headers")).receive(Interop.WAIT_MS);
                Interop.same(got.getJMSMessageID(), message.getJMSMessageID());
                Interop.same(got.getJMSCorrelationID(), "correlated");
                Interop.same(got.getJMSType(), "kind");
                Interop.same(got.getJMSReplyTo(), u.queue("replies"));
                Interop.same(got.getJMSDestination(), u.queue("headers"));
                Interop.same(got.getJMSPriority(), 7);
                Interop.same(got.getJMSDeliveryMode(), DeliveryMode.PERSISTENT);
                Interop.same(got.getJMSRedelivered(), false);
                Interop.same(got.getJMSTimestamp(), message.getJMSTimestamp());
                Interop.check(got.getJMSExpiration() >= before + 60_000, "expiration " + got.getJMSExpiration());
                Interop.same(got.getIntProperty("JMSXDeliveryCount"), 1);
            }
        });
        Interop.test("reply_to_of_each_kind", () -> {
            try (Use u = new Use()) {
                Destination[] kinds = {u.queue("r"), u.topic("r"), u.session.createTemporaryQueue(),
                    u.session.createTemporaryTopic()};
                for (Destination kind : kinds) {
                    Message message = u.session.createMessage();
                    message.setJMSReplyTo(kind);
                    Message got = exchange(u, u.queue("replykinds"), message);
                    Interop.same(got.getJMSReplyTo() instanceof Topic, kind instanceof Topic);
                    Interop.same(got.getJMSReplyTo().toString(), kind.toString());
                }
            }
        });
        Interop.test("non_persistent", () -> {
            try (Use u = new Use()) {
                MessageProducer producer = u.session.createProducer(u.queue("np"));
                producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
                producer.send(u.session.createTextMessage("np"));
                Message got = u.consumer(u.queue("np")).receive(Interop.WAIT_MS);
                Interop.same(got.getJMSDeliveryMode(), DeliveryMode.NON_PERSISTENT);
            }
        });
        Interop.test("correlation_id_as_bytes", () -> {
            try (Use u = new Use()) {
                Message message = u.session.createMessage();
                message.setJMSCorrelationIDAsBytes(new byte[] {1, 0, 2});
                Message got = exchange(u, u.queue("cid"), message);
                Interop.check(Arrays.equals(got.getJMSCorrelationIDAsBytes(), new byte[] {1, 0, 2}), "bytes");
            }
        });
        Interop.test("properties_of_all_types", () -> {
            try (Use u = new Use()) {
                Map<String, Object> values = new LinkedHashMap<>();
                values.put("boolean", true);
                values.put("byte", (byte) 1);
                values.put("short", (short) -2);
                values.put("int", 3);
                values.put("long", -4L);
                values.put("float", 5.5f);
                values.put("double", -6.5);
                values.put("string", "seven");
                Message message = u.session.createMessage();
                for (Map.Entry<String, Object> p : values.entrySet()) message.setObjectProperty(p.getKey(), p.getValue());
                message.setStringProperty("JMSXGroupID", "group");
                message.setIntProperty("JMSXGroupSeq", 3);
                Message got = exchange(u, u.queue("properties"), message);
                for (Map.Entry<String, Object> p : values.entrySet()) {
                    Interop.same(got.getObjectProperty(p.getKey()), p.getValue());
                }
                Interop.same(got.getStringProperty("JMSXGroupID"), "group");
                Interop.same(got.getIntProperty("JMSXGroupSeq"), 3);
            }
        });
    }

    // --- selectors

    static void selected(String label, String selector, Integer... wanted) {
        Interop.test("selector_" + label, () -> {
            try (Use u = new Use()) {
                Queue queue = u.queue("sel." + label);
                MessageProducer producer = u.session.createProducer(queue);
                for (int i = 0; i < 10; ++i) {
                    Message message = u.session.createTextMessage("" + i);
                    message.setIntProperty("n", i);
                    message.setStringProperty("colour", i % 2 == 0 ? "red" : "blue");
                    message.setBooleanProperty("small", i < 3);
                    message.setJMSType(i % 5 == 0 ? "five" : "other");
                    message.setJMSCorrelationID("c" + i);
                    if (i == 4) message.setDoubleProperty("weight", 2.5);
                    producer.send(message, DeliveryMode.PERSISTENT, i == 8 ? 9 : 4, 0);
                }
                MessageConsumer consumer = u.session.createConsumer(queue, selector);
                texts(consumer, (Object[]) wanted);
                nothing(consumer);
                consumer.close();
                MessageConsumer rest = u.consumer(queue);
                for (int i = wanted.length; i < 10; ++i) text(rest);
                nothing(rest);
            }
        });
    }

    static void selectors() {
        selected("comparison", "n > 7", 8, 9);
        selected("logic", "(n < 2 OR n >= 9) AND NOT (colour = 'blue')", 0);
        selected("between", "n BETWEEN 3 AND 5", 3, 4, 5);
        selected("in", "colour IN ('blue', 'green') AND n < 4", 1, 3);
        selected("like", "JMSType LIKE 'f_v%'", 0, 5);
        selected("null", "weight IS NOT NULL", 4);
        selected("boolean", "small = TRUE", 0, 1, 2);
        selected("arithmetic", "n * 2 + 1 = 13", 6);
        selected("priority", "JMSPriority = 9", 8);
        selected("correlation", "JMSCorrelationID = 'c7'", 7);
        selected("delivery_mode", "JMSDeliveryMode = 'PERSISTENT' AND n = 1", 1);
        Interop.test("selector_message_id", () -> {
            try (Use u = new Use()) {
                Queue queue = u.queue("sel.id");
                MessageProducer producer = u.session.createProducer(queue);
                String id = null;
                for (int i = 0; i < 3; ++i) {
                    Message message = u.session.createTextMessage("" + i);
                    producer.send(message);
                    if (i == 1) id = message.getJMSMessageID();
                }
                texts(u.session.createConsumer(queue, "JMSMessageID = '" + id + "'"), 1);
            }
        });
        Interop.test("selector_that_is_wrong", () -> {
            try (Use u = new Use()) {
                Interop.refused(InvalidSelectorException.class, () -> u.session.createConsumer(u.queue("sel"), "n = = 2"));
                u.send(u.queue("sel"), "the session goes on");
            }
        });
        Interop.test("selector_of_two_consumers", () -> {
            try (Use u = new Use()) {
                Queue queue = u.queue("sel.two");
                MessageConsumer odd = u.session.createConsumer(queue, "odd = TRUE");
                MessageConsumer even = u.session.createConsumer(queue, "odd = FALSE");
                MessageProducer producer = u.session.createProducer(queue);
                for (int i = 0; i < 6; ++i) {
                    Message message = u.session.createTextMessage("" + i);
                    message.setBooleanProperty("odd", i % 2 == 1);
                    producer.send(message);
                }
                texts(even, 0, 2, 4);
                texts(odd, 1, 3, 5);
            }
        });
    }

    // --- acknowledgement and transactions

    static void acknowledgement() {
        Interop.test("client_acknowledge", () -> {
            try (Use u = new Use(Session.CLIENT_ACKNOWLEDGE)) {
                u.send(u.queue("clientack"), 1, 2, 3);
                MessageConsumer consumer = u.consumer(u.queue("clientack"));
                text(consumer);
                Message second = consumer.receive(Interop.WAIT_MS);
                second.acknowledge();
            }
            try (Use u = new Use()) {
                texts(u.consumer(u.queue("clientack")), 3);
            }
        });
        Interop.test("recover_redelivers_in_order", () -> {
            try (Use u = new Use(Session.CLIENT_ACKNOWLEDGE)) {
                u.send(u.queue("recover"), 1, 2, 3);
                MessageConsumer consumer = u.consumer(u.queue("recover"));
                texts(consumer, 1, 2, 3);
                u.session.recover();
                Message first = consumer.receive(Interop.WAIT_MS);
                Interop.same(((TextMessage) first).getText(), "1");
                Interop.same(first.getJMSRedelivered(), true);
                Interop.same(first.getIntProperty("JMSXDeliveryCount"), 2);
                texts(consumer, 2, 3);
                first.acknowledge();
            }
        });
        Interop.test("dups_ok_acknowledge", () -> {
            try (Use u = new Use(Session.DUPS_OK_ACKNOWLEDGE)) {
                u.send(u.queue("dups"), 1, 2, 3);
                texts(u.consumer(u.queue("dups")), 1, 2, 3);
            }
            try (Use u = new Use()) {
                nothing(u.consumer(u.queue("dups")));
            }
        });
        Interop.test("unacknowledged_comes_again_with_a_count", () -> {
            for (int round = 1; round <= 3; ++round) {
                try (Use u = new Use(Session.CLIENT_ACKNOWLEDGE)) {
                    if (round == 1) u.send(u.queue("redelivered"), "again");
                    Message got = u.consumer(u.queue("redelivered")).receive(Interop.WAIT_MS);
                    Interop.check(got != null, "round " + round);
                    Interop.same(got.getJMSRedelivered(), round > 1);
                    Interop.same(got.getIntProperty("JMSXDeliveryCount"), round);
                    if (round == 3) got.acknowledge();
                    else u.session.recover();
                }
            }
        });
        Interop.test("listener", () -> {
            try (Use u = new Use()) {
                LinkedBlockingQueue<String> got = new LinkedBlockingQueue<>();
                u.consumer(u.queue("listener")).setMessageListener(m -> {
                    try {
                        got.add(((TextMessage) m).getText());
                    } catch (JMSException error) {
                        got.add(error.toString());
                    }
                });
                try (Use other = new Use()) {
                    for (int i = 0; i < 50; ++i) other.send(other.queue("listener"), i);
                }
                for (int i = 0; i < 50; ++i) Interop.same(got.poll(Interop.WAIT_MS, TimeUnit.MILLISECONDS), "" + i);
            }
        });
        Interop.test("listener_that_throws", () -> {
            try (Use u = new Use()) {
                AtomicInteger times = new AtomicInteger();
                CountDownLatch done = new CountDownLatch(1);
                u.consumer(u.queue("throws")).setMessageListener(m -> {
                    if (times.incrementAndGet() < 3) throw new IllegalStateException("not yet");
                    done.countDown();
                });
                try (Use other = new Use()) {
                    other.send(other.queue("throws"), "x");
                }
                Interop.check(done.await(Interop.WAIT_MS, TimeUnit.MILLISECONDS), "came " + times + " times");
            }
        });
        Interop.test("receive_no_wait", () -> {
            try (Use u = new Use()) {
                MessageConsumer consumer = u.consumer(u.queue("nowait"));
                Interop.same(consumer.receiveNoWait(), null);
                u.send(u.queue("nowait"), 1);
                TextMessage got = null;
                for (int i = 0; i < 200 && got == null; ++i) got = (TextMessage) consumer.receiveNoWait();
                Interop.same(got == null ? null : got.getText(), "1");
            }
        });
        Interop.test("receive_without_prefetch", () -> {
            JmsConnectionFactory factory = new JmsConnectionFactory(URI + "&jms.prefetchPolicy.all=0");
            try (Connection connection = factory.createConnection()) {
                connection.start();
                Session session = connection.createSession();
                Queue queue = session.createQueue(Interop.name("zero"));
                MessageConsumer consumer = session.createConsumer(queue);
                Interop.same(consumer.receiveNoWait(), null);
                Interop.same(consumer.receive(50), null);
                MessageProducer producer = session.createProducer(queue);
                for (int i = 0; i < 5; ++i) producer.send(session.createTextMessage("" + i));
                texts(consumer, 0, 1, 2, 3, 4);
                Interop.same(consumer.receiveNoWait(), null);
            }
        });
        Interop.test("stop_and_start", () -> {
            try (Use u = new Use()) {
                MessageConsumer consumer = u.consumer(u.queue("stopped"));
                u.send(u.queue("stopped"), 1);
                texts(consumer, 1);
                u.connection.stop();
                u.send(u.queue("stopped"), 2);
                Interop.same(consumer.receive(200), null);
                u.connection.start();
                texts(consumer, 2);
            }
        });
        Interop.test("completion_listener", () -> {
            try (Use u = new Use()) {
                CountDownLatch done = new CountDownLatch(20);
                MessageProducer producer = u.session.createProducer(u.queue("async"));
                for (int i = 0; i < 20; ++i) {
                    producer.send(u.session.createTextMessage("" + i), new CompletionListener() {
                        @Override
                        public void onCompletion(Message m) {
                            done.countDown();
                        }

                        @Override
                        public void onException(Message m, Exception error) {}
                    });
                }
                Interop.check(done.await(Interop.WAIT_MS, TimeUnit.MILLISECONDS), "left: " + done.getCount());
            }
        });
        Interop.test("presettled_producer", () -> {
            JmsConnectionFactory factory = new JmsConnectionFactory(URI + "&jms.presettlePolicy.presettleProducers=true");
            try (Connection connection = factory.createConnection()) {
                connection.start();
                Session session = connection.createSession();
                Queue queue = session.createQueue(Interop.name("presettled"));
                MessageProducer producer = session.createProducer(queue);
                for (int i = 0; i < 20; ++i) producer.send(session.createTextMessage("" + i));
                MessageConsumer consumer = session.createConsumer(queue);
                for (int i = 0; i < 20; ++i) Interop.same(text(consumer), "" + i);
            }
        });
    }

    static void transactions() {
        Interop.test("commit_and_rollback_of_puts", () -> {
            try (Use u = new Use(Session.SESSION_TRANSACTED); Use other = new Use()) {
                MessageConsumer consumer = other.consumer(other.queue("tx1"));
                u.send(u.queue("tx1"), 1, 2);
                nothing(consumer);
                u.session.commit();
                texts(consumer, 1, 2);
                u.send(u.queue("tx1"), 3);
                u.session.rollback();
                u.send(u.queue("tx1"), 4);
                u.session.commit();
                texts(consumer, 4);
                nothing(consumer);
            }
        });
        Interop.test("commit_and_rollback_of_gets", () -> {
            try (Use u = new Use(Session.SESSION_TRANSACTED)) {
                u.send(u.queue("tx2"), 1, 2, 3, 4);
                u.session.commit();
                MessageConsumer consumer = u.consumer(u.queue("tx2"));
                texts(consumer, 1, 2);
                u.session.rollback();
                Message again = consumer.receive(Interop.WAIT_MS);
                Interop.same(((TextMessage) again).getText(), "1");
                Interop.same(again.getJMSRedelivered(), true);
                Interop.same(again.getIntProperty("JMSXDeliveryCount"), 2);
                texts(consumer, 2);
                u.session.commit();
                texts(consumer, 3);
            }
            try (Use u = new Use()) {
                texts(u.consumer(u.queue("tx2")), 3, 4);
            }
        });
        Interop.test("a_unit_of_gets_and_puts", () -> {
            try (Use u = new Use(Session.SESSION_TRANSACTED); Use other = new Use()) {
                other.send(other.queue("tx3a"), 1, 2, 3);
                MessageConsumer from = u.consumer(u.queue("tx3a"));
                MessageProducer to = u.session.createProducer(u.queue("tx3b"));
                for (int i = 1; i <= 3; ++i) {
                    Message m = from.receive(Interop.WAIT_MS);
                    to.send(m);
                    if (i == 2) {
                        u.session.rollback();
                        to.send(from.receive(Interop.WAIT_MS));
                    }
                    u.session.commit();
                }
                MessageConsumer consumer = other.consumer(other.queue("tx3b"));
                texts(consumer, 1, 2, 3);
                nothing(consumer);
            }
        });
        Interop.test("two_transacted_sessions_of_a_connection", () -> {
            try (Use u = new Use(Session.SESSION_TRANSACTED)) {
                Session second = u.connection.createSession(true, Session.SESSION_TRANSACTED);
                u.send(u.queue("tx4"), "first");
                MessageProducer producer = second.createProducer(u.queue("tx4"));
                producer.send(second.createTextMessage("second"));
                u.session.rollback();
                second.commit();
                MessageConsumer consumer = u.consumer(u.queue("tx4"));
                texts(consumer, "second");
                nothing(consumer);
                u.session.commit();
            }
        });
        Interop.test("close_is_a_rollback", () -> {
            try (Use u = new Use(Session.SESSION_TRANSACTED)) {
                u.send(u.queue("tx5"), 1);
                u.session.commit();
                u.send(u.queue("tx5"), 2);
                texts(u.consumer(u.queue("tx5")), 1);
            }
            try (Use u = new Use()) {
                MessageConsumer consumer = u.consumer(u.queue("tx5"));
                texts(consumer, 1);
                nothing(consumer);
            }
        });
        Interop.test("a_unit_of_many_messages", () -> {
            try (Use u = new Use(Session.SESSION_TRANSACTED)) {
                MessageProducer producer = u.session.createProducer(u.queue("tx6"));
                for (int i = 0; i < 2000; ++i) producer.send(u.session.createTextMessage("" + i));
                u.session.commit();
                MessageConsumer consumer = u.consumer(u.queue("tx6"));
                for (int i = 0; i < 2000; ++i) Interop.same(text(consumer), "" + i);
                u.session.commit();
                nothing(consumer);
            }
        });
        Interop.test("a_unit_with_a_topic", () -> {
            try (Use u = new Use(Session.SESSION_TRANSACTED); Use other = new Use()) {
                MessageConsumer subscriber = other.consumer(other.topic("tx7"));
                u.send(u.topic("tx7"), 1);
                u.session.rollback();
                u.send(u.topic("tx7"), 2);
                u.session.commit();
                texts(subscriber, 2);
            }
        });
    }

    // --- topics and subscriptions

    static void topics() {
        Interop.test("topic", () -> {
            try (Use u = new Use(); Use other = new Use()) {
                MessageConsumer one = u.consumer(u.topic("t1"));
                MessageConsumer two = other.consumer(other.topic("t1"));
                u.send(u.topic("t1"), 1, 2, 3);
                texts(one, 1, 2, 3);
                texts(two, 1, 2, 3);
                u.send(u.topic("t1.other"), 4);
                nothing(one);
            }
        });
        Interop.test("topic_no_local", () -> {
            try (Use u = new Use(); Use other = new Use()) {
                MessageConsumer consumer = u.session.createConsumer(u.topic("t2"), null, true);
                u.send(u.topic("t2"), "mine");
                other.send(other.topic("t2"), "theirs");
                texts(consumer, "theirs");
                nothing(consumer);
            }
        });
        Interop.test("topic_selector", () -> {
            try (Use u = new Use()) {
                MessageConsumer consumer = u.session.createConsumer(u.topic("t3"), "JMSType = 'b'");
                MessageProducer producer = u.session.createProducer(u.topic("t3"));
                for (String type : new String[] {"a", "b", "c"}) {
                    Message message = u.session.createTextMessage(type);
                    message.setJMSType(type);
                    producer.send(message);
                }
                texts(consumer, "b");
                nothing(consumer);
            }
        });
        Interop.test("durable_subscription", () -> {
            String client = Interop.name("durable");
            try (Use u = new Use(client, Session.AUTO_ACKNOWLEDGE)) {
                u.session.createDurableConsumer(u.topic("t4"), "sub").close();
                u.send(u.topic("t4"), 1, 2);
            }
            try (Use u = new Use()) {
                u.send(u.topic("t4"), 3);
            }
            try (Use u = new Use(client, Session.AUTO_ACKNOWLEDGE)) {
                MessageConsumer consumer = u.session.createDurableConsumer(u.topic("t4"), "sub");
                texts(consumer, 1, 2, 3);
                consumer.close();
                u.session.unsubscribe("sub");
                u.send(u.topic("t4"), 4);
                consumer = u.session.createDurableConsumer(u.topic("t4"), "sub");
                nothing(consumer);
                consumer.close();
                u.session.unsubscribe("sub");
            }
        });
        Interop.test("durable_subscription_with_another_selector_is_new", () -> {
            String client = Interop.name("durable2");
            try (Use u = new Use(client, Session.AUTO_ACKNOWLEDGE)) {
                u.session.createDurableConsumer(u.topic("t5"), "sub").close();
                u.send(u.topic("t5"), 1);
                MessageConsumer consumer = u.session.createDurableConsumer(u.topic("t5"), "sub", "n = 1", false);
                nothing(consumer);
                Message message = u.session.createTextMessage("chosen");
                message.setIntProperty("n", 1);
                u.session.createProducer(u.topic("t5")).send(message);
                texts(consumer, "chosen");
                consumer.close();
                u.session.unsubscribe("sub");
            }
        });
        Interop.test("unsubscribe_of_what_is_not_there", () -> {
            try (Use u = new Use(Interop.name("unsub"), Session.AUTO_ACKNOWLEDGE)) {
                Interop.refused(InvalidDestinationException.class, () -> {
                    u.session.unsubscribe("never-was");
                    return null;
                });
            }
        });
        Interop.test("unsubscribe_while_in_use", () -> {
            try (Use u = new Use(Interop.name("unsub2"), Session.AUTO_ACKNOWLEDGE)) {
                MessageConsumer consumer = u.session.createDurableConsumer(u.topic("t6"), "sub");
                Interop.refused(JMSException.class, () -> {
                    u.session.unsubscribe("sub");
                    return null;
                });
                consumer.close();
                u.session.unsubscribe("sub");
            }
        });
        Interop.test("shared_subscription", () -> {
            try (Use u = new Use(); Use other = new Use()) {
                MessageConsumer one = u.session.createSharedConsumer(u.topic("t7"), "team");
                MessageConsumer two = other.session.createSharedConsumer(other.topic("t7"), "team");
                for (int i = 0; i < 20; ++i) u.send(u.topic("t7"), i);
                int got = 0;
                for (int misses = 0; got < 20 && misses < 40;) {
                    Message a = one.receive(50);
                    Message b = two.receive(50);
                    got += (a != null ? 1 : 0) + (b != null ? 1 : 0);
                    if (a == null && b == null) ++misses;
                }
                Interop.same(got, 20);
                nothing(one);
                nothing(two);
            }
        });
        Interop.test("shared_durable_subscription", () -> {
            try (Use u = new Use()) {
                u.session.createSharedDurableConsumer(u.topic("t8"), Interop.name("sd")).close();
                u.send(u.topic("t8"), 1, 2);
            }
            try (Use u = new Use(); Use other = new Use()) {
                MessageConsumer one = u.session.createSharedDurableConsumer(u.topic("t8"), Interop.name("sd"));
                texts(one, 1, 2);
                MessageConsumer two = other.session.createSharedDurableConsumer(other.topic("t8"), Interop.name("sd"));
                one.close();
                two.close();
                u.session.unsubscribe(Interop.name("sd"));
                u.send(u.topic("t8"), 3);
                one = u.session.createSharedDurableConsumer(u.topic("t8"), Interop.name("sd"));
                nothing(one);
                one.close();
                u.session.unsubscribe(Interop.name("sd"));
            }
        });
        Interop.test("shared_subscription_of_a_client_id", () -> {
            try (Use u = new Use(Interop.name("sc"), Session.AUTO_ACKNOWLEDGE)) {
                MessageConsumer one = u.session.createSharedConsumer(u.topic("t9"), "team");
                MessageConsumer two = u.session.createSharedConsumer(u.topic("t9"), "team");
                u.send(u.topic("t9"), 1);
                Message a = one.receive(500);
                Message b = two.receive(500);
                Interop.same((a != null ? 1 : 0) + (b != null ? 1 : 0), 1);
            }
        });
    }

    // --- browsers, temporary destinations

    static List<String> browsed(QueueBrowser browser) throws JMSException {
        List<String> texts = new ArrayList<>();
        Enumeration<?> messages = browser.getEnumeration();
        while (messages.hasMoreElements()) texts.add(((TextMessage) messages.nextElement()).getText());
        return texts;
    }

    static void nodes() {
        Interop.test("browser", () -> {
            try (Use u = new Use()) {
                Interop.same(browsed(u.session.createBrowser(u.queue("b1"))), List.of());
                u.send(u.queue("b1"), 1, 2, 3);
                for (int i = 0; i < 2; ++i) {
                    Interop.same(browsed(u.session.createBrowser(u.queue("b1"))), List.of("1", "2", "3"));
                }
                texts(u.consumer(u.queue("b1")), 1, 2, 3);
            }
        });
        Interop.test("browser_with_a_selector", () -> {
            try (Use u = new Use()) {
                MessageProducer producer = u.session.createProducer(u.queue("b2"));
                for (int i = 0; i < 6; ++i) {
                    Message message = u.session.createTextMessage("" + i);
                    message.setIntProperty("rest", i % 3);
                    producer.send(message);
                }
                Interop.same(browsed(u.session.createBrowser(u.queue("b2"), "rest = 1")), List.of("1", "4"));
            }
        });
        Interop.test("browser_of_many", () -> {
            try (Use u = new Use()) {
                MessageProducer producer = u.session.createProducer(u.queue("b3"));
                producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
                for (int i = 0; i < 2500; ++i) producer.send(u.session.createTextMessage("" + i));
                Interop.same(browsed(u.session.createBrowser(u.queue("b3"))).size(), 2500);
            }
        });
        Interop.test("temporary_queue", () -> {
            try (Use u = new Use()) {
                TemporaryQueue queue = u.session.createTemporaryQueue();
                MessageConsumer consumer = u.consumer(queue);
                u.send(queue, 1);
                texts(consumer, 1);
                consumer.close();
                queue.delete();
                Interop.refused(JMSException.class, () -> {
                    u.send(queue, 2);
                    return null;
                });
            }
        });
        Interop.test("temporary_queue_in_use_is_not_deleted", () -> {
            try (Use u = new Use()) {
                TemporaryQueue queue = u.session.createTemporaryQueue();
                MessageConsumer consumer = u.consumer(queue);
                Interop.refused(JMSException.class, () -> {
                    queue.delete();
                    return null;
                });
                consumer.close();
                queue.delete();
            }
        });
        Interop.test("temporary_queue_of_another_connection", () -> {
            try (Use u = new Use(); Use other = new Use()) {
                TemporaryQueue queue = u.session.createTemporaryQueue();
                Queue theirs = other.session.createQueue(queue.getQueueName());
                other.send(theirs, "reply");
                texts(u.consumer(queue), "reply");
            }
        });
        Interop.test("temporary_topic", () -> {
            try (Use u = new Use()) {
                TemporaryTopic topic = u.session.createTemporaryTopic();
                MessageConsumer one = u.consumer(topic);
                MessageConsumer two = u.consumer(topic);
                u.send(topic, 1);
                texts(one, 1);
                texts(two, 1);
                one.close();
                two.close();
                topic.delete();
            }
        });
        Interop.test("request_and_reply", () -> {
            try (Use client = new Use(); Use server = new Use()) {
                Session session = server.session;
                MessageProducer anonymous = session.createProducer(null);
                server.consumer(server.queue("service")).setMessageListener(m -> {
                    try {
                        TextMessage reply = session.createTextMessage(((TextMessage) m).getText().toUpperCase());
                        reply.setJMSCorrelationID(m.getJMSMessageID());
                        anonymous.send(m.getJMSReplyTo(), reply);
                    } catch (JMSException error) {
                        throw new IllegalStateException(error);
                    }
                });
                TemporaryQueue replies = client.session.createTemporaryQueue();
                MessageConsumer consumer = client.consumer(replies);
                MessageProducer producer = client.session.createProducer(client.queue("service"));
                for (int i = 0; i < 20; ++i) {
                    TextMessage request = client.session.createTextMessage("hello" + i);
                    request.setJMSReplyTo(replies);
                    producer.send(request);
                    Message reply = consumer.receive(Interop.WAIT_MS);
                    Interop.check(reply != null, "no reply " + i);
                    Interop.same(reply.getJMSCorrelationID(), request.getJMSMessageID());
                    Interop.same(((TextMessage) reply).getText(), "HELLO" + i);
                }
            }
        });
        Interop.test("anonymous_producer", () -> {
            try (Use u = new Use()) {
                MessageProducer producer = u.session.createProducer(null);
                producer.send(u.queue("any1"), u.session.createTextMessage("1"));
                producer.send(u.queue("any2"), u.session.createTextMessage("2"));
                texts(u.consumer(u.queue("any1")), 1);
                texts(u.consumer(u.queue("any2")), 2);
            }
        });
    }

    // --- time and priority

    static void time() {
        Interop.test("priority", () -> {
            try (Use u = new Use()) {
                MessageProducer producer = u.session.createProducer(u.queue("p1"));
                for (int p : new int[] {4, 0, 9, 5, 1, 9}) {
                    producer.send(u.session.createTextMessage("" + p), DeliveryMode.PERSISTENT, p, 0);
                }
                texts(u.consumer(u.queue("p1")), 9, 9, 5, 4, 1, 0);
            }
        });
        Interop.test("time_to_live", () -> {
            try (Use u = new Use()) {
                MessageProducer producer = u.session.createProducer(u.queue("ttl"));
                producer.setTimeToLive(100);
                producer.send(u.session.createTextMessage("short"));
                producer.setTimeToLive(60_000);
                producer.send(u.session.createTextMessage("long"));
                Thread.sleep(300);
                MessageConsumer consumer = u.consumer(u.queue("ttl"));
                texts(consumer, "long");
                nothing(consumer);
            }
        });
        Interop.test("delivery_delay", () -> {
            try (Use u = new Use()) {
                MessageConsumer consumer = u.consumer(u.queue("delay"));
                MessageProducer producer = u.session.createProducer(u.queue("delay"));
                producer.setDeliveryDelay(700);
                long sent = System.currentTimeMillis();
                producer.send(u.session.createTextMessage("later"));
                producer.setDeliveryDelay(0);
                producer.send(u.session.createTextMessage("now"));
                texts(consumer, "now");
                Message later = consumer.receive(Interop.WAIT_MS);
                Interop.same(((TextMessage) later).getText(), "later");
                Interop.check(System.currentTimeMillis() - sent >= 650, "after " + (System.currentTimeMillis() - sent));
                Interop.check(later.getJMSDeliveryTime() >= sent + 700, "delivery time");
            }
        });
        Interop.test("delivery_delay_in_a_transaction", () -> {
            try (Use u = new Use(Session.SESSION_TRANSACTED); Use other = new Use()) {
                MessageConsumer consumer = other.consumer(other.queue("delaytx"));
                MessageProducer producer = u.session.createProducer(u.queue("delaytx"));
                producer.setDeliveryDelay(300);
                producer.send(u.session.createTextMessage("gone"));
                u.session.rollback();
                producer.send(u.session.createTextMessage("kept"));
                u.session.commit();
                texts(consumer, "kept");
                nothing(consumer);
            }
        });
    }

    // --- connections

    static void connections() {
        Interop.test("client_id_that_is_taken", () -> {
            String client = Interop.name("taken");
            try (Use u = new Use(client, Session.AUTO_ACKNOWLEDGE)) {
                Interop.refused(InvalidClientIDException.class, () -> new Use(client, Session.AUTO_ACKNOWLEDGE));
                u.send(u.queue("taken"), 1);
            }
            new Use(client, Session.AUTO_ACKNOWLEDGE).close();
        });
        Interop.test("many_sessions", () -> {
            try (Use u = new Use()) {
                List<MessageConsumer> consumers = new ArrayList<>();
                for (int i = 0; i < 50; ++i) {
                    Session session = u.connection.createSession();
                    consumers.add(session.createConsumer(session.createQueue(Interop.name("s" + i))));
                }
                for (int i = 0; i < 50; ++i) u.send(u.queue("s" + i), i);
                for (int i = 0; i < 50; ++i) texts(consumers.get(i), i);
            }
        });
        Interop.test("name_that_cannot_be", () -> {
            if (!Interop.IS_OURS) throw new Interop.Skipped("this broker takes any name");
            try (Use u = new Use()) {
                Interop.refused(InvalidDestinationException.class,
                    () -> u.session.createConsumer(u.session.createQueue("no queue has such a name!")));
                u.send(u.queue("goes.on"), 1);
            }
        });
        Interop.test("jms_context", () -> {
            try (JMSContext context = FACTORY.createContext(JMSContext.SESSION_TRANSACTED)) {
                Queue queue = context.createQueue(Interop.name("context"));
                context.createProducer().setProperty("p", 1).send(queue, "one");
                context.createProducer().send(queue, Map.of("k", "v"));
                context.commit();
                Interop.same(context.createConsumer(queue).receiveBody(String.class, Interop.WAIT_MS), "one");
                context.commit();
            }
        });
        Interop.test("message_groups_keep_their_order", () -> {
            try (Use u = new Use()) {
                MessageProducer producer = u.session.createProducer(u.queue("groups"));
                for (int i = 0; i < 12; ++i) {
                    Message message = u.session.createTextMessage("" + i);
                    message.setStringProperty("JMSXGroupID", "g" + i % 3);
                    producer.send(message);
                }
                MessageConsumer consumer = u.consumer(u.queue("groups"));
                for (int i = 0; i < 12; ++i) Interop.same(text(consumer), "" + i);
            }
        });
    }

    public static void main(String[] arguments) {
        bodies();
        headers();
        selectors();
        acknowledgement();
        transactions();
        topics();
        nodes();
        time();
        connections();
        Interop.main(arguments);
    }

    private JmsCases() {}
}
