"""A job in Python that notices when its state is not what it was.

It reads the numbers from 0 on; a Python function with keyed state counts them. Before each number, as many have been counted as
the number says, unless something was lost or counted twice. --log gets a line "AT NUMBER MS" for every tenth, with
the time, "BAD NUMBER COUNT" for a count that is wrong, and "RESTORED COUNT MS" when a worker begins with state.

The source has the pause, not the function that counts: a checkpoint would wait behind all records in the network buffers, ten thousand.
"""

import argparse
import time

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.state import ValueStateDescriptor


def now_ms():
    return time.time_ns() // 1_000_000


class Counter(KeyedProcessFunction):
    def __init__(self, log):
        self.log = log

    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.first = True

    def say(self, line):
        with open(self.log, "a", encoding="ascii") as log:
            log.write(line + "\n")

    def process_element(self, number, context):
        count = self.count.value() or 0
        if self.first and count:
            self.say(f"RESTORED {count} {now_ms()}")
        self.first = False
        if count != number:
            self.say(f"BAD {number} {count}")
        elif number % 10 == 0:
            self.say(f"AT {number} {now_ms()}")
        self.count.update(count + 1)
        yield number


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", required=True)
    parser.add_argument("--pause", type=float, default=0.05)
    options, _ = parser.parse_known_args()

    def key(_):
        time.sleep(options.pause)
        return 0

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_source(NumberSequenceSource(0, 1 << 40), WatermarkStrategy.no_watermarks(), "numbers").uid("numbers")
    numbers.key_by(key, key_type=Types.INT()).process(
        Counter(options.log), output_type=Types.LONG()
    ).uid("counter").print().uid("output").name("output")
    env.execute("counter")


if __name__ == "__main__":
    main()
