"""The program under test: starting it within limits, and what its help says about its parameters."""

import os
import re
import resource
import shlex
import signal
import subprocess
import time

MEMORY = 6 << 30


class Done:
    def __init__(self, code, stdout, stderr, seconds):
        self.code, self.stdout, self.stderr_bytes, self.seconds = code, stdout, stderr, seconds
        self.stderr = stderr.decode("utf-8", "replace")


def without_launcher_notices(data):
    """Standard error without what mpirun itself says, between lines of dashes or equal signs."""
    kept, inside = [], False
    for line in data.splitlines(keepends=True):
        if re.fullmatch(rb"\s*(-{20,}|={20,})\s*", line):
            inside = not inside
        elif not inside:
            kept.append(line)
    return b"".join(kept)


class Program:
    def __init__(self, path, launcher, environment):
        self.path, self.launcher, self.environment = path, shlex.split(launcher), environment

    def start(self, folder, arguments, ranks=None, limit=60, end_gently=False):
        """Code "timeout": no answer within the limit. `end_gently`: SIGTERM then, and its answer counts."""
        command = [*([] if ranks is None else [*self.launcher, str(ranks)]), self.path, *arguments]

        def bounded():
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))

        began = time.monotonic()
        with open(os.path.join(folder, ".stdout"), "w+b") as out, open(os.path.join(folder, ".stderr"), "w+b") as err:
            process = subprocess.Popen(command, cwd=folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       preexec_fn=bounded, start_new_session=True)
            code = self.wait(process, limit, end_gently)
            out.seek(0)
            err.seek(0)
            answer = Done(code, out.read(), without_launcher_notices(err.read()), time.monotonic() - began)
        os.remove(os.path.join(folder, ".stdout"))
        os.remove(os.path.join(folder, ".stderr"))
        answer.ended_by_us = code == "ended" or getattr(process, "ended_by_us", False)
        return answer

    @staticmethod
    def wait(process, limit, end_gently):
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            pass
        if end_gently:
            process.ended_by_us = True
            process.send_signal(signal.SIGTERM)
            try:
                return process.wait(20)
            except subprocess.TimeoutExpired:
                pass
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return "timeout"


class Vocabulary:
    """Keys, choices and defaults, as `tessera help` prints them."""

    def __init__(self, program, folder):
        overview = program.start(folder, ["help"]).stdout.decode()
        sections = re.findall(r"^  (\S+)  ", overview.partition("Sections:")[2].partition("\n\n")[0], re.MULTILINE)
        self.sections = [section for section in sections if section not in ("units", "experiment")]
        self.parameters, self.choices = [], {}
        for section in self.sections:
            text = program.start(folder, ["help", section]).stdout.decode()
            for key, facts in re.findall(r"^  (\w+): (.*(?:\n   [ ]*\S.*)*?)\n      ", text, re.MULTILINE):
                self.learn(section, key, facts)

    def learn(self, section, key, facts):
        choice = re.match(r"choice, (.*?)(?:, default|, required|, optional|$)", facts.replace("\n", " "))
        words = [word.strip() for word in choice[1].split("|")] if choice else []
        default = re.search(r"default (.*)$", facts)
        value = default[1] if default else ""
        if words:
            self.choices.setdefault(key, []).extend(words)
            value = words[-1]
        if facts.startswith("boolean"):
            value = "true"
        if facts.startswith("whole number") and not default:
            value = "2"
        plain = value in ("true", "false") or re.match(r"^[-0-9.\[{\"]+[0-9.]*$", value)
        self.parameters.append((section, key, value if plain else f'"{value}"'))

    def choices_of(self, key):
        return self.choices.get(key, [])

    def any_key(self, rng):
        return rng.choice(self.parameters)[1]

    def any_section(self, rng):
        return rng.choice(self.sections)

    def parameter(self, rng):
        return rng.choice(self.parameters)
