"""Where a Python package is installed under PREFIX, so that this interpreter finds it: relative to it.

    python3 where.py PREFIX

Of the folders that the interpreter searches the first that belongs to the prefix (Debian's Python has
others for /usr than for /usr/local); under a prefix that it does not search, what a virtual environment
there would have.
"""

import os
import site
import sys
import sysconfig

prefix = os.path.abspath(sys.argv[1])
searched = site.getsitepackages() + [site.getusersitepackages()]
inside = [os.path.relpath(folder, prefix) for folder in map(os.path.abspath, searched)
          if folder.startswith(os.path.join(prefix, "lib"))]
other = sysconfig.get_path("platlib", "posix_prefix", vars={"base": prefix, "platbase": prefix})
print(inside[0] if inside else os.path.relpath(other, prefix))
