#!/usr/bin/env python3
"""A tool: its arguments come as JSON on standard input, and what it prints is its result."""
import json
import sys


def count(text: str) -> int:
    return len(text.split())


if __name__ == "__main__":
    print(count(json.load(sys.stdin)["text"]), "words")
