"""nalm, by its program: arguments as peers.py gives them."""
import json
import subprocess
import sys

path, target, seed, limit, program = sys.argv[1:]
done = subprocess.run([program, "fit", path, "--target", target, "--seed", seed, "--time-limit", limit, "--threads", "1",
                       "--quiet", "--format", "json"], capture_output=True, text=True)
if done.returncode > 1:
    sys.exit(done.stderr)
print(json.dumps({"formula": json.loads(done.stdout)["formula"]}))
