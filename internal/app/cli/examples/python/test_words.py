import json
import pathlib
import subprocess
import sys
import unittest

PROGRAM = pathlib.Path(__file__).with_name("words.py")


class Words(unittest.TestCase):
    def run_tool(self, arguments):
        return subprocess.run([sys.executable, PROGRAM], input=json.dumps(arguments), capture_output=True, text=True)

    def test_counts(self):
        self.assertEqual(self.run_tool({"text": "one two  three"}).stdout, "3 words\n")

    def test_fails_without_text(self):
        self.assertNotEqual(self.run_tool({}).returncode, 0)


if __name__ == "__main__":
    unittest.main()
