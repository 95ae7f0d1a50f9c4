#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fills a manual page: the options are what the program itself prints for --help, so that both have one source.

man_page.py TEMPLATE VERSION DATE <HELP >PAGE
The template is in man(7); @OPTIONS@, @VERSION@ and @DATE@ are replaced."""
import re
import statistics
import sys

# The layouts of Boost.Program_options, argparse and mpicc: two blanks, the option, two blanks or a new line, the text.
OPTION = re.compile(r"  (-\S.*?)(?:\s{2,}(\S.*))?$")
COLUMN = re.compile(r"  -\S.*?\s{2,}(?=\S)")
MORE_TEXT = re.compile(r"\s{8,}(\S.*)$")
TITLE = re.compile(r"(\S.*):$")


def split_option(line, column):
    """Option and text. Boost leaves a single blank between them where the option reaches up to the text's column."""
    if len(line) > column > 2 and line[column - 1] == " " and line[column] != " ":
        return line[:column].strip(), line[column:]
    return OPTION.match(line).groups()


def read_options(text):
    """[(title, [(option, text)])] of what --help prints."""
    groups = []
    current = None
    columns = [found.end() for found in map(COLUMN.match, text.splitlines()) if found]
    column = statistics.mode(columns) if columns else 0
    for line in map(str.rstrip, text.splitlines()):
        title, option, more = TITLE.match(line), OPTION.match(line), MORE_TEXT.match(line)
        if title:
            groups.append((title.group(1), []))
            current = None
        elif option:
            current = list(split_option(line, column))
            current[1] = current[1] or ""
            if not groups:
                groups.append(("", []))
            groups[-1][1].append(current)
        elif more and current:
            current[1] = f"{current[1]} {more.group(1)}".strip()
        else:
            current = None
    return [(title, options) for title, options in groups if options]


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("^", "\\(ha").replace("~", "\\(ti")
    return "\\&" + text if text.startswith(".") else text


def format_option(option):
    """What is typed in bold, what it stands for in italics."""
    option = re.sub(r"^(-\w) \[ (--\S+) \]", r"\1, \2", option)  # Boost writes -n [ --np ]
    words = []
    for number, word in enumerate(option.split(" ")):
        typed, sign, value = word.partition("=") if word.startswith("-") else ("", "", word)
        comma = "," if typed.endswith(",") else ""
        typed = typed.rstrip(",")
        if number and typed and words[-1][-1] != ",":
            words[-1] += ","
        formatted = (f"\\fB{escape(typed + sign)}\\fR" if typed else "") + (f"\\fI{escape(value)}\\fR" if value else "")
        words.append(formatted + comma)
    return " ".join(words)


def sentences(text):
    """One sentence a line, as man(7) wants it."""
    return re.sub(r"(?<=[a-z)][.;]) (?=[A-Z])", "\n", text)


def render(groups):
    lines = []
    for title, options in groups:
        if len(groups) > 1 and title:
            lines.append(f".SS {title[0].upper()}{title[1:]}")
        for option, text in options:
            lines += [".TP", format_option(option), wrap(escape(sentences(text)))]
    return "\n".join(lines)


def wrap(text):
    """Source lines of at most 80 characters."""
    lines = []
    for sentence in text.split("\n"):
        line = ""
        for word in sentence.split(" "):
            if line and len(line) + 1 + len(word) > 80:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        lines.append(line)
    return "\n".join(lines)


def main():
    template, version, date = sys.argv[1:]
    groups = read_options(sys.stdin.read())
    if not groups:
        sys.exit(f"man_page.py: {template}: no option in the help that it was given")
    with open(template, encoding="utf-8") as file:
        page = file.read()
    for key, value in {"@OPTIONS@": render(groups), "@VERSION@": version, "@DATE@": date}.items():
        if key not in page:
            sys.exit(f"man_page.py: {template}: no {key}")
        page = page.replace(key, value)
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
