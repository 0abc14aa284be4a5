# Waits for reports that a job writes one after the other: `slow` looks every 0.2 s, `fixed` is told through a pipe.
folder=$(mktemp -d)
mkfifo "$folder/ready"
job() {
  for number in 1 2 3 4 5 6 7 8; do
    sleep 0.13
    echo "report $number" > "$folder/$number"
    [ "$1" = fixed ] && echo "$number" > "$folder/ready"
  done
}
job "$1" &
for number in 1 2 3 4 5 6 7 8; do
  if [ "$1" = fixed ]; then
    read -r _ < "$folder/ready"
  else
    while [ ! -s "$folder/$number" ]; do sleep 0.2; done
  fi
  cat "$folder/$number"
  rm "$folder/$number"
done
wait
rm -r "$folder"
